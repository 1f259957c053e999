// Search runs in a worker, which browsers refuse to a page that was opened from a disk. There, an invisible frame
// does the same: it loads the worker's script and passes messages on.
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.waiting = []
      this.frame = document.body.appendChild(document.createElement("iframe"))
      this.frame.hidden = true
      const page = this.frame.contentWindow
      page.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      const script = page.document.createElement("script")
      script.src = url
      script.onload = () => {
        this.loaded = true
        this.waiting.forEach(data => this.postMessage(data))
      }
      page.document.body.appendChild(script)
    }
    postMessage(data) {
      if (this.loaded) this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }))
      else this.waiting.push(data)
    }
    terminate() { this.frame.remove() }
  }
}

"""Starts headless Chromium by its driver."""

import shutil

from selenium.webdriver import Chrome, ChromeOptions, ChromeService

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


def start(folder, *flags):
    """A browser with its profile in ``folder``."""
    options = ChromeOptions()
    for flag in (*FLAGS, f"--user-data-dir={folder}", *flags):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return Chrome(options, ChromeService(shutil.which("chromedriver")))

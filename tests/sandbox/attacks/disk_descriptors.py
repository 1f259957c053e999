"""disk: opens 200 files."""

keep = [open('/dev/null') for i in range(200)]

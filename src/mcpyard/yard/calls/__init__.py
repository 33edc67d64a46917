"""Tool calls: one pipeline for the gateway, REST, the toolbox, the command line and the page."""

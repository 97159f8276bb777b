"""What the lines of tool outputs say, by format; shared by detection and compressors, which decide what counts."""

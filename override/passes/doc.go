package passes

# A digest of the driver: another one makes its results stale.
$(BUILD)/sources.h: $(wildcard *.c *.h) | $(BUILD)
	$(IDENTITY) sources $@ DRIVER_SOURCES --text "$(shell $(CC) --version | head -n 1)" . --without $(BUILD)
$(OBJECTS): $(BUILD)/sources.h

# The kernels in the language of the driver. With this line, .kernels of driver.c is {{language}}_kernels.
# OBJECTS += $(BUILD)/gpu_{{language}}_table.o
$(BUILD)/gpu_{{language}}_table.c: | $(BUILD)
	$(KEXPAND) catalogue $@ {{language}}_kernels --language {{language}} --compiler "$(CC)" \
	  --kembed $(shell $(PKG_CONFIG) --variable=kembed tapml-gpu-1)

# Its kernel in the language of the driver, and the struct of the kernel's parameters.
SOURCES += $(BUILD)/kernels.c
EXPAND_WITH = --kembed $(shell $(PKG_CONFIG) --variable=kembed tapml-gpu-1) --compiler "$(CC)"
$(OBJECTS): $(BUILD)/kparams.h
$(BUILD)/kparams.h: {{component}}.k | $(BUILD)
	$(KEXPAND) params $@ $< $(EXPAND_WITH)
$(BUILD)/kernels.c: {{component}}.k | $(BUILD)
	$(KEXPAND) table $@ own_kernels $< --language {{language}} $(EXPAND_WITH)
-include $(BUILD)/kparams.h.d $(BUILD)/kernels.c.d

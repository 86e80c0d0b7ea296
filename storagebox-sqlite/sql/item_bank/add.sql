-- IB-5 what the bank knows, in whatever state, is not changed.
-- ?1 bank, ?2 items as JSON
INSERT INTO storagebox_items (bank, item, state) SELECT ?1, value, 'free' FROM json_each(?2) WHERE true
ON CONFLICT (bank, item) DO NOTHING

-- IB-5 Adds items as free. Known items are not changed, whatever their state.
-- ?1 bank, ?2 items as JSON
INSERT INTO storagebox_items (bank, item, state) SELECT ?1, value, 'free' FROM json_each(?2) WHERE true
ON CONFLICT (bank, item) DO NOTHING

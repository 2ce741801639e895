-- A page of a list is read from few neighbours, or from places far from each other: of each column a block was decompressed that held
-- 65,536 bytes, often for one row of it. Parts that are written from now on have smaller ones; older parts get them when they are merged.
ALTER TABLE usage_records_by_time MODIFY SETTING min_compress_block_size = 16384;
ALTER TABLE usage_records_by_customer MODIFY SETTING min_compress_block_size = 16384;

-- No question used it, and every insert paid for it: a reference is found by id_hash, which follows from it.
ALTER TABLE usage_events DROP INDEX IF EXISTS reference_bloom;
ALTER TABLE usage_duplicates DROP INDEX IF EXISTS reference_bloom;

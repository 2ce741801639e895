-- Reads and writes go on while stored rows are checked.
alter table payments validate constraint payments_result_check;

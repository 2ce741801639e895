-- No statement looks for the lines of an item, and every line of every invoice paid for it.
drop index invoice_lines_item;

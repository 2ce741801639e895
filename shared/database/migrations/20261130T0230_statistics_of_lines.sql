-- While a billing run fills this table, PostgreSQL analyzes it every few seconds, and what that costs grows with the columns. No condition names
-- these but that of a partial index, of which PostgreSQL counts the rows, so the planner has no use for what it finds in them.
alter table invoice_lines
  alter column source set statistics 0,
  alter column line_id set statistics 0,
  alter column product_category_id set statistics 0,
  alter column product_id set statistics 0,
  alter column pricing_id set statistics 0,
  alter column pricing_item_id set statistics 0,
  alter column pricing_item_config_id set statistics 0,
  alter column service_start set statistics 0,
  alter column amount_excluding_tax set statistics 0,
  alter column tax_amount set statistics 0,
  alter column amount_including_tax set statistics 0,
  alter column tax_category set statistics 0;

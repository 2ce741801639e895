-- Lines may be inserted before their invoice, and are checked when the transaction commits. So an invoice that is FINAL from the start
-- is written once, with its number, and not inserted as a DRAFT first, whose lines can still be inserted, and then updated.
alter table invoice_lines alter constraint invoice_lines_platform_id_environment_invoice_id_fkey deferrable initially deferred;

-- No statement looks for the invoices that were issued in another one, and no invoice is ever deleted.
drop index invoices_combined;

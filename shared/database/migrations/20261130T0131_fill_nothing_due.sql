-- The trigger sets `nothing_due`. No other value changes, so these FINAL invoices stay as they are.
update invoices set credited_amount = credited_amount where status = 'FINAL' and amount_including_tax <= credited_amount;

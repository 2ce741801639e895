-- No statement of this version uses them.
drop index invoices_unpaid;
drop index invoices_not_yet_overdue;

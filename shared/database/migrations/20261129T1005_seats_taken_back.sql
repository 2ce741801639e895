-- A seat assignment that ends as it starts was taken back: it occupies no seat at any time.
alter table seat_assignments drop constraint seat_assignments_check, add check (end_at is null or start_at <= end_at);

-- When what waits for an answer is computed next; null is at once. Set where an invoice could not be computed, so that it is tried
-- again without holding up the others.
alter table tax_answers add column compute_at timestamptz;

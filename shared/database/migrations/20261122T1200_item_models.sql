-- Items that are sold once, by units, and items that are charged by seats (contract: Units on one-off items; semantics 4.4).
alter table product_items
  drop constraint product_items_model_type_check,
  add constraint product_items_model_type_check
    check (model_type in ('USAGE_BASED', 'RECURRING', 'ONE_OFF', 'PER_SEAT'));

-- Usage that is turned into credits, and calculations that a line shows and does not bill (semantics 2).
alter table product_items
  drop constraint product_items_model_type_check,
  drop constraint product_items_check,
  add constraint product_items_model_type_check check (
    model_type in ('USAGE_BASED', 'USAGE_BASED_CONVERSION', 'RECURRING', 'ONE_OFF', 'PER_SEAT', 'CREDITS')
  ),
  add constraint product_items_measured_check check (
    (model_type in ('USAGE_BASED', 'USAGE_BASED_CONVERSION')) = ((usage_based ->> 'meter_value_calculation_id') is not null)
  ),
  add column report_meter_value_calculation_ids jsonb
    generated always as (coalesce(usage_based -> 'report_meter_value_calculation_ids', '[]')) stored;

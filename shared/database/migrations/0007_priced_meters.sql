-- Which meters each plan version prices: an event of a customer may be billed by one subscription only.
create view priced_meters with (security_invoker = true) as
select distinct p.platform_id, p.environment, p.pricing_plan_version_id, c.meter_id
from pricings p
cross join lateral jsonb_array_elements(p.items) as item
cross join lateral jsonb_array_elements_text(item -> 'product_item_ids') as priced (product_item_id)
join product_items i on i.platform_id = p.platform_id and i.environment = p.environment and i.id = priced.product_item_id
join meter_value_calculations c on c.platform_id = p.platform_id and c.environment = p.environment and c.id = i.meter_value_calculation_id;
grant select on priced_meters to millrace_app;

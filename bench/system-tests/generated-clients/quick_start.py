"""The quick start through the client that openapi-python-client makes of the description."""
import os

from millrace import AuthenticatedClient
from millrace.api.billing_entities import billing_entities_create
from millrace.api.customers import customers_create, customers_get, customers_list
from millrace.api.invoices import invoices_preview
from millrace.api.meter_value_calculations import meter_value_calculations_create
from millrace.api.meter_values import meter_values_create
from millrace.api.meters import meters_create
from millrace.api.pricing_plan_schedules import pricing_plan_schedules_create
from millrace.api.pricing_plan_subscriptions import pricing_plan_subscriptions_create
from millrace.api.pricing_plan_versions import pricing_plan_versions_create, pricing_plan_versions_update
from millrace.api.pricing_plans import pricing_plans_create
from millrace.api.pricings import pricings_create
from millrace.api.product_items import product_items_create
from millrace.api.products import products_create
from millrace import models as m

api = AuthenticatedClient(
    base_url=os.environ["MILLRACE_URL"], token=os.environ["MILLRACE_KEY"], auth_header_name="X-API-KEY", prefix=""
)


def must(answer):
    if answer is None or isinstance(answer, m.Error):
        raise SystemExit(f"refused: {answer}")
    return answer


def create(operation, shape, body):
    return must(operation.sync(client=api, body=shape.from_dict(body)))


month = {"type": "MONTH", "value": 1}
value = create(meter_values_create, m.MeterValueCreate, {"reference": "py-tokens", "name": "Tokens", "type": "NUMBER", "status": "ACTIVE"})
meter = create(meters_create, m.MeterCreate, {"reference": "py-requests", "name": "Requests", "status": "ACTIVE", "meter_values": [{"reference": "py-tokens", "required": True}]})
total = create(meter_value_calculations_create, m.MeterValueCalculationCreate, {"reference": "py-sum", "name": "Sum", "calculation_type": "SUM", "meter_id": meter.id, "meter_value_id": value.id})
product = create(products_create, m.ProductCreate, {"reference": "py-product", "name": "Assistant", "status": "ACTIVE"})
tokens = create(product_items_create, m.ProductItemCreate, {"reference": "py-item", "name": "Tokens used", "product_id": product.id, "status": "ACTIVE", "model_type": "USAGE_BASED", "usage_based": {"meter_value_calculation_id": total.id}})
fee = create(product_items_create, m.ProductItemCreate, {"reference": "py-fee", "name": "Monthly fee", "product_id": product.id, "status": "ACTIVE", "model_type": "RECURRING"})
plan = create(pricing_plans_create, m.PricingPlanCreate, {"reference": "py-plan", "name": "Basic"})
version = create(pricing_plan_versions_create, m.PricingPlanVersionCreate, {"pricing_plan_id": plan.id})
create(pricings_create, m.PricingCreate, {
    "pricing_plan_version_id": version.id, "name": "Basic", "product_ids": [product.id],
    "items": [
        {"product_item_ids": [tokens.id], "configs": [{"pricing_type": "FLAT", "billing_period": month, "bands": [{"amount": {"quantity": "0.015", "currency": "EUR"}, "block_size": {"number": "1000"}}]}]},
        {"product_item_ids": [fee.id], "configs": [{"pricing_type": "FIXED", "billing_period": month, "bands": [{"fixed_amount": {"quantity": "20.00", "currency": "EUR"}}]}]},
    ],
})
must(pricing_plan_versions_update.sync(version.id, client=api, body=m.PricingPlanVersionUpdate.from_dict({"status": "ACTIVE"})))
entity = create(billing_entities_create, m.BillingEntityCreate, {"reference": "py-us", "legal_name": "Ourselves B.V.", "tax_id": "NL123456789B01", "registered_address": {"country": "NL"}})
customer = create(customers_create, m.CustomerCreate, {"reference": "py-acme", "type": "ORGANIZATION", "status": "ACTIVE", "organization": {"legal_name": "Acme B.V.", "registered_address": {"country": "NL"}}})
subscription = create(pricing_plan_subscriptions_create, m.PricingPlanSubscriptionCreate, {"reference": "py-subscription", "customer_id": customer.id, "billing_entity_id": entity.id, "billing_currency": "EUR", "billing_period": month, "billing_time": "CALENDAR"})
create(pricing_plan_schedules_create, m.PricingPlanScheduleCreate, {"pricing_plan_subscription_id": subscription.id, "pricing_plan_version_id": version.id, "start_at": "2026-01-01T00:00:00Z", "end_at": "2026-02-01T00:00:00Z", "pricing_currency": "EUR"})
preview = create(invoices_preview, m.InvoicePreviewCreate, {"pricing_plan_subscription_id": subscription.id, "start_at": "2026-01-01T00:00:00Z"})
print(preview.invoice.invoice_amount_including_tax.quantity, "EUR in the preview")
print(len(must(customers_list.sync(client=api, limit=1)).data), "customer")
print(customers_get.sync("none", client=api).code)

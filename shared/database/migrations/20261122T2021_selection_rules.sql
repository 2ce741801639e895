-- Which customers a plan is offered to, by their country (semantics 3.1).
alter table pricing_plans add column pricing_plan_selection_rules jsonb not null default '[]';

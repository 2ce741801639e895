-- Categories, products and product items for one customer (semantics 2: customer_id on catalog entries).
alter table product_categories
  add column customer_id text,
  add foreign key (platform_id, environment, customer_id) references customers;
create index product_categories_customer on product_categories (platform_id, environment, customer_id)
  where customer_id is not null;

alter table products
  add column customer_id text,
  add foreign key (platform_id, environment, customer_id) references customers;
create index products_customer on products (platform_id, environment, customer_id) where customer_id is not null;

alter table product_items
  add column customer_id text,
  add foreign key (platform_id, environment, customer_id) references customers;
create index product_items_customer on product_items (platform_id, environment, customer_id)
  where customer_id is not null;

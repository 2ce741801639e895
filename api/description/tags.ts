// The groups of operations, in the order in which a reader needs them, and what each is about.
import { RESOURCES } from '../modules/modules.ts'

export type Tag = { readonly name: string; readonly title: string; readonly description: string }

const tag = (name: string, title: string, description: string): Tag => ({ name, title, description })

const ORDERED: readonly Tag[] = [
  tag(
    'customers',
    'Customers',
    'A customer is an organization or a person that you bill. Give it a `reference` of your own, and use that wherever an id is taken.',
  ),
  tag('contacts', 'Contacts', 'A contact is a person at a customer: a name and an e-mail address.'),
  tag(
    'events',
    'Events',
    'A usage event says what a customer used, and when. Its `reference` identifies it for ever: sent again, it is not counted again.',
  ),
  tag(
    'usage',
    'Usage',
    'Usage is what the events of a customer come to: the quantities that invoices are computed from, by the hour, day or month.',
  ),
  tag(
    'meter-values',
    'Meter values',
    'A meter value is a quantity that events carry: a `NUMBER`, such as tokens, or an `AMOUNT` of money.',
  ),
  tag(
    'meter-properties',
    'Meter properties',
    'A meter property is a fact that events carry, such as the region or the model. Prices can have conditions on it.',
  ),
  tag('meters', 'Meters', 'A meter says which values and properties the events of one kind carry.'),
  tag(
    'meter-value-calculations',
    'Meter value calculations',
    'A calculation turns the events of a period into one quantity: `SUM`, `MAX`, `MIN` or `AVERAGE` of a meter value, or `UNIQUE` values of a property.',
  ),
  tag(
    'meter-property-variables',
    'Meter property variables',
    'A variable is a named list of property values. Conditions refer to it, so the list can change while the price stays.',
  ),
  tag('products', 'Products', 'A product groups the items you sell. It is what a price plan prices.'),
  tag(
    'product-items',
    'Product items',
    'A product item becomes an invoice line. It is `USAGE_BASED` (measured by a calculation), `RECURRING` (once a billing period), `ONE_OFF` (once) or `PER_SEAT` (by seats).',
  ),
  tag('product-categories', 'Product categories', 'A product category groups products on invoices and in the catalog.'),
  tag(
    'features',
    'Features',
    'A feature is what a plan can grant besides its prices: a switch, a number, an amount, one of several values, or a text.',
  ),
  tag(
    'catalog',
    'Catalog as code',
    'The catalog is one file: read it, keep it under version control, see what a change of it would do, and apply it in one transaction.',
  ),
  tag(
    'pricing-plans',
    'Pricing plans',
    'A pricing plan is what a customer subscribes to. It has versions, and a version has prices.',
  ),
  tag(
    'pricing-plan-groups',
    'Pricing plan groups',
    'A group is a list of plans, lowest tier first, between which a subscription may move. It says when an upgrade and a downgrade take effect.',
  ),
  tag(
    'pricing-plan-versions',
    'Pricing plan versions',
    'A version holds the prices of a plan. An ACTIVE version never changes: make a new one, and schedule it.',
  ),
  tag(
    'pricing-plan-version-simulations',
    'Simulations',
    'A simulation rates the last closed periods of the customers on a plan by another version, and shows what each of them would have paid.',
  ),
  tag(
    'pricing-plan-version-migrations',
    'Version migrations',
    'A migration moves all subscriptions of a plan version to another. It shows first what the next invoice of each becomes.',
  ),
  tag(
    'pricing-groups',
    'Pricing groups',
    'A pricing group holds pricings of a plan version, among which a schedule selects as many as the group allows.',
  ),
  tag('pricings', 'Pricings', 'A pricing prices the items of one or more products in a plan version.'),
  tag(
    'custom-fields',
    'Custom fields',
    'A custom field holds what your platform records of customers, products or other resources beyond their own fields.',
  ),
  tag(
    'billing-entities',
    'Billing entities',
    'A billing entity is the company that issues invoices: its address, tax registrations, time zone and number prefix.',
  ),
  tag(
    'payment-acceptors',
    'Payment acceptors',
    'A payment acceptor says where a billing entity takes payments: a bank account or the address of a payment page. Invoices show those that are ACTIVE.',
  ),
  tag(
    'exchange-rates',
    'Exchange rates',
    'An exchange rate converts prices in one currency into the billing currency of an invoice. It holds from its time until the next rate of the same currencies.',
  ),
  tag(
    'tax-rates',
    'Tax rates',
    'A tax rate of yours adds the rate of a country that Millrace does not know, or comes before the one that it knows. It holds from a day, for invoices that are not FINAL.',
  ),
  tag(
    'pricing-plan-subscriptions',
    'Subscriptions',
    'A subscription puts a customer on a billing cycle of a billing entity. Its schedules say which plan version applies when.',
  ),
  tag(
    'pricing-plan-subscription-groups',
    'Subscription groups',
    'A group holds subscriptions that belong together, such as those of the departments of one company.',
  ),
  tag(
    'pricing-plan-schedules',
    'Schedules',
    'A schedule puts a subscription on a plan version from one moment to another. Schedules have neither gaps nor overlaps.',
  ),
  tag(
    'invoices',
    'Invoices',
    'An invoice is OPEN while its period and the extra open period of the platform run, DRAFT after them, and FINAL when it has its number. A FINAL invoice never changes.',
  ),
  tag(
    'bulk-actions',
    'Bulk actions',
    'A bulk action makes all DRAFT invoices of a date FINAL. Each invoice succeeds or fails by itself.',
  ),
  tag(
    'payments',
    'Payments',
    'A payment that was made elsewhere is recorded for an invoice, which is paid by it in part or in full.',
  ),
  tag(
    'reprocess',
    'Reprocessing',
    'A reprocess run computes invoices that are not FINAL again, from what parties, prices and usage are now.',
  ),
  tag(
    'coupons',
    'Coupons',
    'A coupon is a discount that schedules take on, by its id or by a promotion code: a percentage, an amount, or free usage.',
  ),
  tag(
    'promotion-codes',
    'Promotion codes',
    'A promotion code is what a customer types to redeem a coupon. It has limits of its own, and case does not count.',
  ),
  tag(
    'credit-types',
    'Credit types',
    'A credit type is a unit other than money, such as compute credits. Wallets hold amounts of it.',
  ),
  tag(
    'wallet-types',
    'Wallet types',
    'A wallet type says what wallets hold: credits, money that pays before tax (CREDIT), or money that pays after tax (BALANCE).',
  ),
  tag(
    'wallets',
    'Wallets',
    'A wallet is what one customer has of one wallet type. Every balance is a sum of its ledger.',
  ),
  tag(
    'wallet-grants',
    'Wallet grants',
    'A grant puts money or credits into a wallet. What expires first is spent first.',
  ),
  tag(
    'auto-top-up-configs',
    'Auto top-up configurations',
    'An auto top-up buys credits or money for a wallet when its open balance falls below a threshold.',
  ),
  tag('alert-rules', 'Alert rules', 'An alert rule says at how much use of an entitlement an alert is made.'),
  tag('alerts', 'Alerts', 'An alert says that a rule applied: to whom, when, and at what use.'),
  tag(
    'webhooks',
    'Webhooks',
    'A webhook gets each change as it happens: in order, at least once, signed, for as long as its endpoint takes to recover.',
  ),
  tag(
    'webhook-events',
    'Webhook events',
    'Every event of the last 30 days in the order of commits, what became of it at each webhook, and a way to send it again.',
  ),
  tag(
    'files',
    'Files',
    'A CSV file of usage: uploaded or fetched from an address, read line by line, each line with its result.',
  ),
  tag(
    'file-processing-settings',
    'File processing settings',
    'Settings map the columns of a CSV file to the fields of events.',
  ),
  tag(
    'seat-assignments',
    'Seat assignments',
    'A seat assignment says which customer occupies a seat of a subscription, and for how long.',
  ),
  tag(
    'test-clocks',
    'Test clocks',
    'A test clock is the time in which some customers of TEST live: it stands still until you advance it.',
  ),
  tag('platforms', 'Platforms', 'A platform is your account: its settings for invoices, late usage and ingestion.'),
  tag(
    'api-keys',
    'API keys',
    'An API key belongs to one platform and one environment. Its text is shown once, when it is made.',
  ),
  tag('users', 'Users', 'A user is a person who can sign in. What they may do follows from their roles and teams.'),
  tag('teams', 'Teams', 'A team gives its members roles for as long as they are in it.'),
  tag('roles', 'Roles', 'A role is a set of permissions. Built-in roles cannot be changed.'),
  tag(
    'audit-records',
    'Audit records',
    'An audit record says who changed what, when, and by which key or token. Records form a chain that can be verified.',
  ),
]

/** Those of resources that have their section beside them come last. */
export const TAGS: readonly Tag[] = [
  ...ORDERED,
  ...RESOURCES.flatMap(({ path, section }) => (section ? [{ name: path, ...section }] : [])),
]

const ORDER = new Map(TAGS.map(({ name }, index) => [name, index]))

/** The place of a tag in the order; tags that are not listed come last. */
export const tagOrder = (name: string): number => ORDER.get(name) ?? TAGS.length

// The forms of price of six other billing systems in the models of Millrace: what each form costs by the rule that its system
// documents, from an independent calculator in another language that uses fractions.
import type { WorkedPrice } from './worked-prices.ts'

/** As `WorkedPrice`, after the system and what it calls the form. */
export type SystemPrice = readonly [form: string, ...WorkedPrice]

/** For metered numbers: `volume=cost`. */
export const SYSTEMS_OF_NUMBERS: readonly SystemPrice[] = [
  [
    'Stripe graduated',
    'TIERED',
    'to:5 at:7 | to:10 at:6.5 | at:6',
    '0=0 1=7 4.5=31.5 5=35 6=41.5 10=67.5 11=73.5 20=127.5 99=601.5 100=607.5 101=613.5 1000=6007.5 1234.5=7414.5',
  ],
  [
    'Stripe volume',
    'TOP_TIERED',
    'to:5 at:7 | to:10 at:6.5 | at:6',
    '0=0 1=7 4.5=31.5 5=35 6=39 10=65 11=66 20=120 99=594 100=600 101=606 1000=6000 1234.5=7407',
  ],
  [
    'Stripe graduated with flat amounts',
    'TIERED',
    'to:100 fix:10 | to:1000 at:0.05 | at:0.04 fix:5',
    '0=10 1=10 4.5=10 5=10 6=10 10=10 11=10 20=10 99=10 100=10 101=10.05 1000=55 1234.5=69.38',
  ],
  [
    'Stripe volume with flat amounts',
    'TOP_TIERED',
    'to:100 fix:10 | to:1000 at:0.05 | at:0.04 fix:5',
    '0=10 1=10 4.5=10 5=10 6=10 10=10 11=10 20=10 99=10 100=10 101=5.05 1000=50 1234.5=54.38',
  ],
  [
    'Stripe transform_quantity, rounded up',
    'FLAT_TOP_UP',
    'at:5 block:100',
    '0=0 1=5 4.5=5 5=5 6=5 10=5 11=5 20=5 99=5 100=5 101=10 1000=50 1234.5=65',
  ],
  [
    'Stripe per unit in fractions of a cent',
    'FLAT',
    'at:0.000123',
    '0=0 1=0.000123 4.5=0.0005535 5=0.000615 6=0.000738 10=0.00123 11=0.001353 20=0.00246 99=0.012177 100=0.0123 101=0.012423 1000=0.123 1234.5=0.1518435',
  ],
  [
    'Stripe tiers of flat amounts',
    'STAIR_STEP',
    'to:10 fix:20 | to:100 fix:50 | fix:90',
    '0=20 1=20 4.5=20 5=20 6=20 10=20 11=50 20=50 99=50 100=50 101=90 1000=90 1234.5=90',
  ],
  [
    'Lago volume',
    'TOP_TIERED',
    'to:100 at:2 fix:1 | to:1000 at:1 fix:50 | at:0.5 fix:60',
    '0=1 1=3 4.5=10 5=11 6=13 10=21 11=23 20=41 99=199 100=201 101=151 1000=1050 1234.5=677.25',
  ],
  [
    'Lago package',
    'FLAT_TOP_UP',
    'at:100 block:10',
    '0=0 1=100 4.5=100 5=100 6=100 10=100 11=200 20=200 99=1000 100=1000 101=1100 1000=10000 1234.5=12400',
  ],
  [
    'Orb tiered',
    'TIERED',
    'to:10 at:1 | to:1000 at:0.5 | at:0.25',
    '0=0 1=1 4.5=4.5 5=5 6=6 10=10 11=10.5 20=15 99=54.5 100=55 101=55.5 1000=505 1234.5=563.625',
  ],
  [
    'Orb bulk',
    'TOP_TIERED',
    'to:10 at:1 | to:1000 at:0.5 | at:0.25',
    '0=0 1=1 4.5=4.5 5=5 6=6 10=10 11=5.5 20=10 99=49.5 100=50 101=50.5 1000=500 1234.5=308.625',
  ],
  [
    'Orb package',
    'FLAT_TOP_UP',
    'at:0.8 block:10',
    '0=0 1=0.8 4.5=0.8 5=0.8 6=0.8 10=0.8 11=1.6 20=1.6 99=8 100=8 101=8.8 1000=80 1234.5=99.2',
  ],
  [
    'Orb threshold total amount',
    'STAIR_STEP',
    'to:10 fix:10 | to:100 fix:15 | fix:40',
    '0=10 1=10 4.5=10 5=10 6=10 10=10 11=15 20=15 99=15 100=15 101=40 1000=40 1234.5=40',
  ],
  [
    'Orb tiered package',
    'TIERED_TOP_UP',
    'to:100 at:5 block:10 | at:3 block:10',
    '0=0 1=5 4.5=5 5=5 6=5 10=5 11=10 20=10 99=50 100=50 101=53 1000=320 1234.5=392',
  ],
  [
    'Metronome tiered with free units',
    'TIERED',
    'to:100 at:0 | to:1000 at:0.02 | at:0.01',
    '0=0 1=0 4.5=0 5=0 6=0 10=0 11=0 20=0 99=0 100=0 101=0.02 1000=18 1234.5=20.345',
  ],
  [
    'Metronome minimum of a charge',
    'FLAT',
    'at:0.5 min:25',
    '0=25 1=25 4.5=25 5=25 6=25 10=25 11=25 20=25 99=49.5 100=50 101=50.5 1000=500 1234.5=617.25',
  ],
  [
    'Kill Bill consumable, all tiers',
    'TIERED_TOP_UP',
    'to:50 at:2 block:5 | to:100 at:1.5 block:5 | at:1 block:5',
    '0=0 1=2 4.5=2 5=2 6=4 10=4 11=6 20=8 99=35 100=35 101=36 1000=215 1234.5=262',
  ],
  [
    'Kill Bill consumable, top tier of blocks of one',
    'TOP_TIERED',
    'to:100 at:1 | at:0.7',
    '0=0 1=1 4.5=4.5 5=5 6=6 10=10 11=11 20=20 99=99 100=100 101=70.7 1000=700 1234.5=864.15',
  ],
  [
    'Kill Bill capacity',
    'STAIR_STEP',
    'to:5 fix:100 | to:20 fix:300 | fix:900',
    '0=100 1=100 4.5=100 5=100 6=300 10=300 11=300 20=300 99=900 100=900 101=900 1000=900 1234.5=900',
  ],
  [
    'OpenMeter graduated',
    'TIERED',
    'to:5 at:3 fix:1 | to:10 at:2 fix:4 | at:1',
    '0=1 1=4 4.5=14.5 5=16 6=22 10=30 11=31 20=40 99=119 100=120 101=121 1000=1020 1234.5=1254.5',
  ],
  [
    'OpenMeter volume',
    'TOP_TIERED',
    'to:5 at:3 fix:1 | to:10 at:2 fix:4 | at:1',
    '0=1 1=4 4.5=14.5 5=16 6=16 10=24 11=11 20=20 99=99 100=100 101=101 1000=1000 1234.5=1234.5',
  ],
  [
    'OpenMeter unit price with spend commitments',
    'FLAT',
    'at:2 min:30 max:200',
    '0=30 1=30 4.5=30 5=30 6=30 10=30 11=30 20=40 99=198 100=200 101=200 1000=200 1234.5=200',
  ],
  [
    'OpenMeter package',
    'FLAT_TOP_UP',
    'at:7 block:25',
    '0=0 1=7 4.5=7 5=7 6=7 10=7 11=7 20=7 99=28 100=28 101=35 1000=280 1234.5=350',
  ],
]

/** For metered money: `money/events=cost`. */
export const SYSTEMS_OF_MONEY: readonly SystemPrice[] = [
  [
    'Lago percentage with a fixed amount',
    'FLAT',
    'pct:1.3 at:2',
    '0/0=0 100/1=3.3 200/2=6.6 200.01/3=8.60013 500/4=14.5 1000/10=33 2500.5/25=82.5065',
  ],
  [
    'Lago graduated percentage',
    'TIERED',
    'to:200 pct:1 fix:200 | to:1000 pct:2 fix:300 | pct:3',
    '0/0=200 100/1=201 200/2=202 200.01/3=502.0002 500/4=508 1000/10=518 2500.5/25=563.015',
  ],
  [
    'Lago dynamic',
    'PASS_THROUGH',
    '',
    '0/0=0 100/1=100 200/2=200 200.01/3=200.01 500/4=500 1000/10=1000 2500.5/25=2500.5',
  ],
  [
    'Orb BPS',
    'FLAT',
    'pct:0.15',
    '0/0=0 100/1=0.15 200/2=0.3 200.01/3=0.300015 500/4=0.75 1000/10=1.5 2500.5/25=3.75075',
  ],
  [
    'Orb tiered BPS',
    'TIERED',
    'to:500 pct:0.2 | pct:0.1',
    '0/0=0 100/1=0.2 200/2=0.4 200.01/3=0.40002 500/4=1 1000/10=1.5 2500.5/25=3.0005',
  ],
  [
    'Orb bulk BPS',
    'TOP_TIERED',
    'to:500 pct:0.2 | pct:0.1',
    '0/0=0 100/1=0.2 200/2=0.4 200.01/3=0.40002 500/4=1 1000/10=1 2500.5/25=2.5005',
  ],
  [
    'Metronome percentage of spend',
    'FLAT',
    'pct:10',
    '0/0=0 100/1=10 200/2=20 200.01/3=20.001 500/4=50 1000/10=100 2500.5/25=250.05',
  ],
  [
    'OpenMeter dynamic with a multiplier of 1.2',
    'PASS_THROUGH',
    'pct:20',
    '0/0=0 100/1=120 200/2=240 200.01/3=240.012 500/4=600 1000/10=1200 2500.5/25=3000.6',
  ],
]

/** Payments that are priced each: the payments, and what all of them cost. */
export const SYSTEMS_OF_EACH: readonly (readonly [
  form: string,
  pricingType: string,
  bands: string,
  payments: string,
  cost: string,
])[] = [
  [
    'Lago percentage with a minimum and a maximum for each transaction',
    'FLAT',
    'pct:1 at:0.2 min:0.5 max:8',
    '5 10 20 100 300.5 1000 20000',
    '21.905',
  ],
  ['Orb BPS with a maximum for each transaction', 'FLAT', 'pct:0.5 max:2', '5 10 20 100 300.5 1000 20000', '6.1775'],
  [
    'Orb tiered BPS, each transaction in its own tiers',
    'TIERED',
    'to:100 pct:1 | pct:0.5',
    '5 10 20 100 300.5 1000 20000',
    '109.3525',
  ],
  [
    'Orb bulk BPS, each transaction by its size',
    'TOP_TIERED',
    'to:100 pct:1 | pct:0.5 max:20',
    '5 10 20 100 300.5 1000 20000',
    '27.8525',
  ],
  ['Stripe fee of a payment', 'FLAT', 'pct:1.5 fix:0.25', '5 10 20 100 300.5 1000 20000', '323.2825'],
]

/** With free units: `volume=cost`. */
export const SYSTEMS_WITH_FREE_UNITS: readonly (readonly [
  form: string,
  pricingType: string,
  bands: string,
  free: string,
  costs: string,
])[] = [
  [
    'Lago package with free units',
    'FLAT_TOP_UP',
    'at:100 block:100',
    '100',
    '0=0 1=0 4.5=0 5=0 6=0 10=0 11=0 20=0 99=0 100=0 101=100 1000=900 1234.5=1200',
  ],
  [
    'Orb tiered with an allocation',
    'TIERED',
    'to:100 at:1 | at:0.5',
    '50',
    '0=0 1=0 4.5=0 5=0 6=0 10=0 11=0 20=0 99=49 100=50 101=51 1000=525 1234.5=642.25',
  ],
  [
    'Metronome included quantity',
    'FLAT',
    'at:0.1',
    '1000',
    '0=0 1=0 4.5=0 5=0 6=0 10=0 11=0 20=0 99=0 100=0 101=0 1000=0 1234.5=23.45',
  ],
]

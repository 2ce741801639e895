// The time in which customers of TEST live.

import { type Seeded, seededId } from '../../resource/routes/route-fixture.ts'
import type { BillingDeps } from '../billing/run/compute-invoice.ts'
import { defineModule, type ModuleRouteDeps } from '../define-module.ts'
import { testClockRoutes } from './routes.ts'

/** No tenant has it: clocks are there in TEST alone, and none is made for the tests of all tenants. */
const absent = { params: (seeded: Seeded) => ({ id: seededId(seeded, 'CUSTOMER').replace('cust_', 'tclk_') }) }
const frozen_time = '2026-01-01T00:00:00Z'

export const testClocks = defineModule<ModuleRouteDeps & BillingDeps>({
  name: 'test-clocks',
  routes: testClockRoutes,
  fixtures: {
    'POST /v1/test-clocks': { body: () => ({ frozen_time }) },
    'GET /v1/test-clocks': {},
    'GET /v1/test-clocks/:id': absent,
    'POST /v1/test-clocks/:id/customers': { ...absent, body: () => ({ customer_ids: [] }) },
    'POST /v1/test-clocks/:id/advance': { ...absent, body: () => ({ frozen_time }) },
  },
})

// What is used of what is granted: read at any time, and watched by rules, which also watch invoices, and the alerts they raise.
import { seededId } from '../../resource/routes/route-fixture.ts'
import { defineModule, type ModuleRouteDeps } from '../define-module.ts'
import { alertResource } from './alert.ts'
import { alertRuleResource } from './alert-rule.ts'
import type { UseDeps } from './entitlement-use/load-use.ts'
import { entitlementUseRoutes } from './entitlement-use/routes.ts'
import { ALERT_EVENTS } from './events.ts'
import { type AlertJobDeps, alertJobs } from './jobs.ts'
import { alertRoutes } from './routes.ts'

export const alerts = defineModule<ModuleRouteDeps & UseDeps, AlertJobDeps>({
  name: 'alerts',
  events: [ALERT_EVENTS],
  resources: [alertRuleResource, alertResource],
  routes: (app, deps) => {
    alertRoutes(app, deps)
    entitlementUseRoutes(app, deps)
  },
  jobs: alertJobs,
  fixtures: {
    'GET /v1/customers/:id/entitlements/:feature': {
      params: seeded => ({ id: seededId(seeded, 'CUSTOMER'), feature: seededId(seeded, 'FEATURE') }),
    },
  },
})

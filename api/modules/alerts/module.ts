// Rules that watch use and invoices, and the alerts they raise.
import { defineModule, type ModuleRouteDeps } from '../define-module.ts'
import { alertResource } from './alert.ts'
import { alertRuleResource } from './alert-rule.ts'
import { ALERT_EVENTS } from './events.ts'
import { type AlertJobDeps, alertJobs } from './jobs.ts'
import { alertRoutes } from './routes.ts'

export const alerts = defineModule<ModuleRouteDeps, AlertJobDeps>({
  name: 'alerts',
  events: [ALERT_EVENTS],
  resources: [alertRuleResource, alertResource],
  routes: alertRoutes,
  jobs: alertJobs,
})

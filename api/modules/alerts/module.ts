// Rules that watch use and invoices, and the alerts they raise.
import { defineModule, type ModuleRouteDeps } from '../define-module.ts'
import { alertResource } from './alert.ts'
import { alertRuleResource } from './alert-rule.ts'
import { type AlertJobDeps, alertJobs } from './jobs.ts'
import { alertRoutes } from './routes.ts'

export const alerts = defineModule<ModuleRouteDeps, AlertJobDeps>({
  name: 'alerts',
  resources: [alertRuleResource, alertResource],
  routes: alertRoutes,
  jobs: alertJobs,
})

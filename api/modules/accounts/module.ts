// Who may do what: API keys, users, roles, teams, and the audit trail of what they did.
import { ACCOUNT_EVENTS } from '../../../shared/access/account-events.ts'
import { onSeeded, type RouteFixtures, type Seeded, seededId, seededView } from '../../resource/routes/route-fixture.ts'
import { defineModule, type ModuleRouteDeps } from '../define-module.ts'
import { apiKeyResource } from './api-keys/api-key.ts'
import { apiKeyRoutes } from './api-keys/routes.ts'
import { auditRoutes } from './audit/routes.ts'
import { type AuditJobDeps, verifyAuditEveryNight } from './audit/verify-audit.ts'
import { ACCESS_EVENTS } from './events.ts'
import { ROLE_EFFECTS, ROLE_GUARDS } from './roles/guards.ts'
import { roleResource } from './roles/role.ts'
import { roleRoutes } from './roles/routes.ts'
import { TEAM_GUARDS } from './teams/guards.ts'
import { teamRoutes } from './teams/routes.ts'
import { USER_GUARDS } from './users/guards.ts'
import { membershipRoutes } from './users/membership-routes.ts'
import { userRoutes } from './users/routes.ts'

const aKey = onSeeded('API_KEY')
const aTeam = onSeeded('TEAM')
const aUser = onSeeded('USER')
const aMembership = {
  params: (seeded: Seeded) => {
    const [membership] = seededView(seeded, 'USER').account_memberships as { id: string }[]
    return { id: seededId(seeded, 'USER'), membershipResourceId: membership?.id ?? 'none' }
  },
}
const itsRole = (seeded: Seeded) => ({ role_ids: [seededId(seeded, 'ROLE')] })
const anInvitation = (seeded: Seeded) => ({
  username: `${seededId(seeded, 'USER').toLowerCase()}@example.com`,
  account_memberships: [itsRole(seeded)],
  team_memberships: [{ team_id: seededId(seeded, 'TEAM') }],
})

const fixtures: RouteFixtures = {
  'PATCH /v1/api-keys/:id': { ...aKey, body: () => ({ description: 'changed' }) },
  'POST /v1/api-keys/:id/revoke': aKey,
  'GET /v1/api-keys/:id/decrypt': aKey,
  'GET /v1/audit-records': {},
  // No seeded object has a record before the relay has run, so an id of another kind stands for a foreign one.
  'GET /v1/audit-records/:id': onSeeded('CUSTOMER'),
  'GET /v1/users': {},
  'GET /v1/users/search': {},
  'GET /v1/users/:id': aUser,
  'PATCH /v1/users/:id': { ...aUser, body: () => ({ active: false }) },
  'POST /v1/users/:id/reset-second-factor': aUser,
  'POST /v1/users': { body: anInvitation },
  'POST /v1/users/invite': { body: anInvitation },
  'POST /v1/users/revoke-invite': { body: seeded => ({ id: seededId(seeded, 'USER') }) },
  'GET /v1/users/:id/memberships': aUser,
  'POST /v1/users/:id/memberships': { ...aUser, body: itsRole },
  'PATCH /v1/users/:id/memberships/:membershipResourceId': { ...aMembership, body: itsRole },
  'DELETE /v1/users/:id/memberships/:membershipResourceId': aMembership,
  'GET /v1/users/:id/teams': aUser,
  'POST /v1/users/:id/teams': { ...aUser, body: seeded => ({ team_id: seededId(seeded, 'TEAM') }) },
  'GET /v1/teams': {},
  'POST /v1/teams': {
    body: seeded => ({ name: `Team of ${seededId(seeded, 'TEAM')}`, account_memberships: [itsRole(seeded)] }),
  },
  'GET /v1/teams/:id': aTeam,
  'PATCH /v1/teams/:id': { ...aTeam, body: seeded => ({ account_memberships: [itsRole(seeded)] }) },
  'DELETE /v1/teams/:id': aTeam,
  'POST /v1/teams/:id/memberships': { ...aTeam, body: itsRole },
  'GET /v1/permissions': {},
}

export const accounts = defineModule<ModuleRouteDeps, AuditJobDeps>({
  name: 'accounts',
  otherObjectTypes: ['ACCOUNT_MEMBERSHIP', 'AUDIT_RECORD'],
  events: [ACCESS_EVENTS, ACCOUNT_EVENTS],
  eventShapes: {
    TEAM: 'TeamRepresentation',
    USER: 'User',
    USER_INVITATION: 'UserInvitationChange',
    OAUTH_GRANT: 'OAuthGrantChange',
  },
  resources: [roleResource, apiKeyResource],
  routes: (app, deps) => {
    apiKeyRoutes(app, deps, deps.declared)
    auditRoutes(app, deps, deps.eventTypes)
    userRoutes(app, deps, deps)
    membershipRoutes(app, deps, deps)
    roleRoutes(app, deps, deps.declared)
    teamRoutes(app, deps, deps)
  },
  guards: [...ROLE_GUARDS, ...USER_GUARDS, ...TEAM_GUARDS],
  effects: ROLE_EFFECTS,
  jobs: [verifyAuditEveryNight],
  fixtures,
})

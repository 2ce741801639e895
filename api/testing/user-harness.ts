// The api in a test with users besides keys: a caller for any user, as if a token had been issued to them. What tokens are
// checked for is api/access's own matter; what their user may do is asked of the database, as always.
import { createUser } from '../../shared/access/create-platform.ts'
import { inTenant, type Uow } from '../../shared/database/database.ts'
import type { Tenant } from '../../shared/tenant.ts'
import type { TokenClaims } from '../access/verify-access-token.ts'
import type { DeclaredPermissions } from '../http/permissions.ts'
import { RULES } from '../modules/modules.ts'
import { withRules } from '../resource/rules.ts'
import { type ApiHarness, callerWith, startApi } from './harness.ts'

export type UserHarness = ApiHarness & {
  /** Calls as this user, with a token of everything in this tenant. */
  as(userId: string, tenant: Tenant): ReturnType<typeof callerWith>
  /**
   * Runs `work` as this user, past the routes: no credential of a user manages access over HTTP, and the rules below hold for
   * any that will.
   */
  acting<T>(userId: string, tenant: Tenant, work: Work<T>): Promise<T>
  /** Makes an ACTIVE user who administers both environments of the tenant's platform; answers their id. */
  administrator(tenant: Tenant): Promise<string>
}

type Work<T> = (uow: Uow, rules: { readonly declared: DeclaredPermissions }) => Promise<T>
let users = 0

/** The api with tokens that are written by the test. */
export async function startApiWithUsers(more: Parameters<typeof startApi>[0] = {}): Promise<UserHarness> {
  const tokens = {
    verify: async (token: string): Promise<TokenClaims> => JSON.parse(Buffer.from(token, 'base64url').toString('utf8')),
    isRevoked: () => false,
    metadataUrl: 'http://api.example/.well-known/oauth-protected-resource',
    close: async () => undefined,
  }
  const api = await startApi({ ...more, tokens })
  return {
    ...api,
    as: (userId, tenant) => {
      const claims: TokenClaims = {
        userId,
        grantId: 'gran_test',
        clientId: 'clnt_test',
        scopes: ['service:read', 'service:write'],
        tenants: [tenant],
      }
      return callerWith(api.app, {
        authorization: `Bearer ${Buffer.from(JSON.stringify(claims)).toString('base64url')}`,
      })
    },
    acting: async (userId, tenant, work) => {
      const declared = new Set(api.routes.map(({ permission }) => permission))
      const may = (await api.permissionCache.permissionsOf(userId, tenant))?.allows ?? (() => false)
      const database = withRules(api.database, RULES, { permissions: declared })
      return await inTenant(database, tenant, { id: userId, requestId: null, may }, uow => work(uow, { declared }))
    },
    administrator: async tenant => {
      users += 1
      const email = `administrator-${users}@example.com`
      await createUser(api.databaseUrl, email, [tenant.platformId])
      return (await api.sql('select id from users where username = $1', [email]))[0]?.['id']
    },
  }
}

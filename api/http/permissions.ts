// Names of permissions: `<RESOURCE>.<ACTION>`. Every route declares one; nothing is allowed by default.

export type Permission = `${string}.${'VIEW' | 'CREATE' | 'UPDATE' | 'DELETE'}`

/** Every permission that some route needs. It fills while routes are declared, and is whole before the first request. */
export type DeclaredPermissions = ReadonlySet<string>

/** The scope a bearer token needs for it (contract: Scopes). */
export const scopeOf = (permission: string): 'service:read' | 'service:write' =>
  permission.endsWith('.VIEW') ? 'service:read' : 'service:write'

/** Who may come in, and how far: what no one changes on behalf of another user (security section 4). */
const ABOUT_ACCESS: ReadonlySet<string> = new Set(['API_KEY', 'USER', 'ROLE', 'TEAM', 'WEBHOOK_SECRET', 'OAUTH_GRANT'])

/** Whether the permission is for changing keys, members, roles, secrets of webhooks or consents. */
export const isAboutAccess = (permission: string): boolean =>
  !permission.endsWith('.VIEW') && ABOUT_ACCESS.has(permission.slice(0, permission.indexOf('.')))

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * What the caller must be allowed to do; `public` for the few routes that need no caller, `bearer` for the one whose every
     * act is a call of another route with the same token.
     */
    permission?: Permission | 'public' | 'bearer'
  }
}

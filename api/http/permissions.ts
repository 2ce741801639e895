// Names of permissions: `<RESOURCE>.<ACTION>`. Every route declares one; nothing is allowed by default.

export type Permission = `${string}.${'VIEW' | 'CREATE' | 'UPDATE' | 'DELETE'}`

/** Every permission that some route needs. It fills while routes are declared, and is whole before the first request. */
export type DeclaredPermissions = ReadonlySet<string>

/** The scope a bearer token needs for it (contract: Scopes). */
export const scopeOf = (permission: Permission): 'service:read' | 'service:write' =>
  permission.endsWith('.VIEW') ? 'service:read' : 'service:write'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the caller must be allowed to do; `public` for the few routes that need no caller. */
    permission?: Permission | 'public'
  }
}

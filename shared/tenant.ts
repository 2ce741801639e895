// A tenant is one platform in one environment; TEST and LIVE of a platform share nothing.

export type Environment = 'TEST' | 'LIVE'
export type Tenant = { readonly platformId: string; readonly environment: Environment }

export const ENVIRONMENTS: readonly Environment[] = ['TEST', 'LIVE']

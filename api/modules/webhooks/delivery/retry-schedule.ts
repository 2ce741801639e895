// When a delivery is given up (contract: Events, Delivery of webhooks).

/** An event that is older is no longer sent. */
export const HORIZON_MS = 7 * 24 * 3_600_000

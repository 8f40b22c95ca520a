// Every kind of background work with its payload. Kind and handler live apart: enqueuing never imports the doing.

/** Work that finds out by itself what there is to do. */
export type NoPayload = Record<string, never>

export interface Kinds {
  expire_invitations: NoPayload
  revoke_inactive_tokens: NoPayload
  forget_agents: NoPayload
  forget_idempotency_keys: NoPayload
  forget_rate_limits: NoPayload
  forget_sessions: NoPayload
  forget_webhook_deliveries: NoPayload
  forget_deliveries: NoPayload
  seal_plain_secrets: NoPayload
}

export type Kind = keyof Kinds

/** Carried out at least once, so every handler must be safe to repeat. */
export type Handlers<Context> = {
  readonly [K in Kind]: (context: Context, payload: Kinds[K]) => Promise<unknown>
}

/**
 * In UTC, as cron writes it. A time that passes while no worker runs is not made up for: what is due then is still
 * due at the next one.
 */
export const schedule: Readonly<Record<Kind, string>> = {
  expire_invitations: '*/10 * * * *',
  revoke_inactive_tokens: '7 * * * *',
  forget_agents: '37 * * * *',
  forget_idempotency_keys: '*/15 * * * *',
  forget_rate_limits: '*/5 * * * *',
  forget_sessions: '*/15 * * * *',
  forget_webhook_deliveries: '23 * * * *',
  forget_deliveries: '*/10 * * * *',
  seal_plain_secrets: '52 * * * *',
}

import type { AgentLog } from '@millrace/agent/pool.ts'

const write = (level: string) => (fields: object, message: string) => {
  const values = Object.entries(fields).map(([name, value]) => `${name}=${String(value)}`)
  console.error([new Date().toISOString(), level, message, ...values].join(' '))
}

/** Readable lines for people and for service logs. */
export const agentLog: AgentLog = { info: write('info'), warn: write('warn'), error: write('error') }

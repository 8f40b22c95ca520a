// Reads the environment; no other file does. Returns one frozen object, or all problems at once. Each subject is a file that
// declares its settings and makes its part of the object. Secrets are a branch of their own.
import { databaseSettings, readDatabase } from './database.ts'
import { engineSettings, hostedSettings, kubernetesSettings, readHosted } from './hosted.ts'
import { httpSettings, readHttp } from './http.ts'
import { metricsSettings, readMonitoring, traceSettings } from './monitoring.ts'
import { chatWorkspaceSettings, issueTrackerSettings, outboundSettings, readOutbound } from './outbound.ts'
import { processSettings, readProcess } from './process.ts'
import { readRetention, retentionSettings } from './retention.ts'
import { Reader, type Subject } from './settings.ts'
import { readStorage, storageSettings } from './storage.ts'
import { readTimers, timerSettings } from './timers.ts'

/** As the documentation lists them. */
export const subjects: readonly Subject[] = [
  httpSettings,
  processSettings,
  databaseSettings,
  storageSettings,
  retentionSettings,
  timerSettings,
  metricsSettings,
  traceSettings,
  outboundSettings,
  chatWorkspaceSettings,
  issueTrackerSettings,
  engineSettings,
  hostedSettings,
  kubernetesSettings,
]

export type Config = ReturnType<typeof readAll>

type ConfigResult = { ok: true; config: Config } | { ok: false; problems: string[] }

export function readConfig(env: Record<string, string | undefined>): ConfigResult {
  const reader = new Reader(env)
  const config = readAll(reader)
  const { problems } = reader
  return problems.length > 0 ? { ok: false, problems } : { ok: true, config }
}

function readAll(reader: Reader) {
  const http = readHttp(reader)
  const database = readDatabase(reader)
  const process = readProcess(reader, database.database)
  const storage = readStorage(reader)
  const monitoring = readMonitoring(reader, http.host)
  const outbound = readOutbound(reader)
  return Object.freeze({
    ...http,
    ...database,
    ...process,
    ...storage,
    ...readRetention(reader),
    ...readTimers(reader),
    ...monitoring,
    ...outbound,
    ...readHosted(reader, http.url),
    secrets: { ...process.secrets, ...storage.secrets, ...monitoring.secrets, ...outbound.secrets },
  })
}

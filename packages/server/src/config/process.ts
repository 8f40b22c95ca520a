// What a process does, and what a new installation has.
import { isAbsolute, normalize, resolve } from 'node:path'
import { integer, Refused, subject, text, token, type Reader, type Setting } from './settings.ts'

const roles = ['api', 'worker', 'agent'] as const
export type Role = (typeof roles)[number]

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

const roleList: Setting<readonly Role[]> = {
  absent: roles,
  shown: `\`${roles.join(',')}\``,
  description: 'Roles that `up` runs in this process',
  parse(given) {
    const wanted = given
      .split(',')
      .map((role) => role.trim())
      .filter(Boolean)
    const unknown = wanted.filter((role) => !roles.some((known) => known === role))
    if (unknown.length > 0) throw new Refused(`may name ${roles.join(', ')}; it has "${unknown.join(', ')}".`)
    return roles.filter((role) => wanted.includes(role))
  },
}

/** A folder of the machine that trusted jobs of local agents see. */
export interface JobFolder {
  path: string
  isWritable: boolean
}

const jobFolders: Setting<readonly JobFolder[]> = {
  absent: [],
  shown: 'none',
  description:
    'Folders and files of the machine that trusted jobs of these agents see, beside the system folders: absolute paths, separated by commas. Read-only, unless `:rw` follows a path. Jobs of forks never see them',
  parse: (given) =>
    given.split(',').map((entry) => {
      const [, path = '', access] = /^(.*?)(:rw)?$/.exec(entry.trim()) ?? []
      const problem = problemOfFolder(path)
      if (problem !== null) throw new Refused(`names "${path}", which ${problem}.`)
      return { path: normalize(path).replace(/\/$/, ''), isWritable: access !== undefined }
    }),
}

/** Each job has its own folders of these names. */
const ofJobs =
  /^\/(?:(?:tmp|run|dev|dev\/shm|var|etc|usr)?\/?$|(?:proc|builds|millrace|dev(?!\/shm))(?:\/|$))/

function problemOfFolder(path: string): string | null {
  if (!isAbsolute(path)) return 'is no absolute path'
  return ofJobs.test(normalize(path)) ? 'jobs have themselves: name a folder in it, or another' : null
}

export const processSettings = subject('The process', {
  MILLRACE_DATA_DIR: text('./data', 'Database, secret key, blobs'),
  MILLRACE_SECRET_KEY: text(
    undefined,
    'Encrypts secrets and signs cursors; at least 32 characters. With several keys, separated by commas, the first encrypts and all decrypt',
    {
      shown: 'generated once, in the data directory',
      must: [
        'have at least 32 characters. A comma ends one key and begins the next (new,old), so no key can hold a comma, and each must be as long',
        (keys) => keys.split(',').every((key) => key.trim().length >= 32),
      ],
      isSecret: true,
    },
  ),
  MILLRACE_ROLES: roleList,
  MILLRACE_AGENTS: integer(
    { absent: 1, from: 0, to: 100 },
    'How many agents `up` runs beside the server; 0 for none',
  ),
  MILLRACE_JOB_FOLDERS: jobFolders,
  MILLRACE_LOG_LEVEL: text('info', 'JSON lines on standard error', {
    shown: '`warn` for `up`, else `info`',
    must: [`be one of ${logLevels.join(', ')}`, (level) => logLevels.includes(level)],
  }),
  MILLRACE_DRAIN_SECONDS: integer(
    { absent: null, from: 0, to: 300, shown: '5 with `DATABASE_URL`, else 0' },
    'How long a replica reports that it is not ready, after SIGTERM, before it stops accepting requests',
  ),
  MILLRACE_ORG: text('default', 'Slug of the first organization', {
    must: ['be lower-case letters, digits and dashes', /^[a-z0-9][a-z0-9-]{0,99}$/],
  }),
  MILLRACE_ADMIN_TOKEN: token(
    'Value of the first token. If it is set, `serve` creates the first organization on an empty database, as `up` does',
    20,
    'random',
  ),
  MILLRACE_AGENT_TOKEN: token(
    'Value of the first agent token, in the first cluster of a new database. `millrace agent start` reads its own token from the same variable',
    20,
  ),
})

export function readProcess(reader: Reader, database: { kind: 'embedded' | 'url' }) {
  const values = reader.read(processSettings)
  return {
    dataDir: resolve(values.MILLRACE_DATA_DIR),
    roles: values.MILLRACE_ROLES,
    localAgents: values.MILLRACE_AGENTS,
    jobFolders: values.MILLRACE_JOB_FOLDERS,
    logLevel: values.MILLRACE_LOG_LEVEL,
    // With the embedded database there is one process, so no balancer could send requests to another.
    drainSeconds: values.MILLRACE_DRAIN_SECONDS ?? (database.kind === 'embedded' ? 0 : 5),
    organizationSlug: values.MILLRACE_ORG,
    secrets: {
      keys: values.MILLRACE_SECRET_KEY,
      adminToken: values.MILLRACE_ADMIN_TOKEN,
      agentToken: values.MILLRACE_AGENT_TOKEN,
    },
  }
}

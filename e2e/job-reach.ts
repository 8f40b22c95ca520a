// What a job on a local agent reaches, as docs/security.md says it in a table, and a probe for every row of that table.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const page = readFileSync(fileURLToPath(new URL('../docs/security.md', import.meta.url)), 'utf8')

/** The kinds of jobs are the columns of the table. */
export const columns = [
  'Sandbox, root: trusted',
  'Sandbox, root: fork',
  'Sandbox, user: trusted',
  'Sandbox, user: fork',
  'No sandbox, root: trusted',
  'No sandbox, user: trusted',
] as const

export type Column = (typeof columns)[number]

/** What the probes need to know of the machine and of earlier jobs. */
export interface Surroundings {
  dataDir: string
  databaseFiles: string
  /** Processes of the server and of its agents. */
  pids: readonly number[]
  home: string
  /** A file in the temporary folder of the machine. */
  temporaryFile: string
  /** A socket with a path, one without, and a port, which listen. */
  socket: string
  abstractSocket: string
  port: number
  /** A file in the shared memory of the machine. */
  memoryFile: string
  /** The namespace of the machine for messages between processes, and the device of its terminals. */
  ipcNamespace: string
  terminals: string
  /** A file of MILLRACE_JOB_FOLDERS. */
  sharedFile: string
  /** A file of this checkout. */
  program: string
  /** Where an earlier job of another pipeline was. */
  otherWorkspace: string
  /** A value in the environment of a job that runs at the same time. */
  otherSecret: string
}

/** For each row a command that succeeds if the job reaches it. They are lines of a shell script. */
const probes: Record<string, (has: Surroundings) => string> = {
  'The data directory: secret key, database, blobs': ({ dataDir, databaseFiles }) =>
    `cat ${dataDir}/secret-key || cat ${databaseFiles}/password || ls ${databaseFiles}/cluster || ls ${dataDir}/blobs || ls ${dataDir}/jobs/workspaces`,
  'Memory, environment and files of the server and the agents': ({ pids }) =>
    pids
      .map((pid) => `{ is_of_millrace ${pid} && { cat /proc/${pid}/environ || ls /proc/${pid}/fd; }; }`)
      .join(' || '),
  'Signals to the server and the agents': ({ pids }) =>
    pids.map((pid) => `{ is_of_millrace ${pid} && kill -0 ${pid}; }`).join(' || '),
  'The list of the machine’s processes': ({ pids: [pid] }) => `is_of_millrace ${pid}`,
  'The operator’s home, if others may not enter it': ({ home }) => `ls ${home}/.netrc`,
  '`/tmp` and other folders of the machine': ({ temporaryFile }) => `cat ${temporaryFile}`,
  'Sockets with a path, such as those of `ssh-agent` and Docker': ({ socket }) => connects(`'${socket}'`),
  '`/dev/shm` of the machine': ({ memoryFile }) => `cat ${memoryFile}`,
  'Shared memory and queues of other programs (System V, POSIX)': ({ ipcNamespace }) =>
    `[ "$(readlink /proc/self/ns/ipc)" = '${ipcNamespace}' ]`,
  'Terminals of the machine': ({ terminals }) => `[ "$(stat -c %d /dev/pts)" = ${terminals} ]`,
  'Files of another pipeline': ({ otherWorkspace }) => `ls ${otherWorkspace}/of-another-pipeline`,
  'Files of earlier jobs of its pipeline, on the same agent': () => 'ls before',
  'Environment of a job of another pipeline that runs at the same time': ({ otherSecret }) =>
    `cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -q '^SECRET_OF_ANOTHER=${otherSecret}'`,
  'Folders of `MILLRACE_JOB_FOLDERS`': ({ sharedFile }) => `cat ${sharedFile}`,
  'System folders, to read': () => 'cat /etc/passwd && ls /usr/bin',
  'System folders and Millrace’s program, to write': ({ program }) =>
    `test -w /usr || test -w /etc || test -w /bin || test -w /millrace/program || test -w '${program}'`,
  'More rights by programs such as `sudo`': () => '! grep -q "^NoNewPrivs:.1" /proc/self/status',
  'Node and npm': () => 'node --version && npm --version',
  'Ports of the machine': ({ port }) => connects(String(port)),
  'Abstract Unix sockets of the machine': ({ abstractSocket }) => connects(`'\\0${abstractSocket}'`),
}

/** A process in the sandbox may have the same number, and this script has these words. */
const isOfMillrace = `is_of_millrace() { grep -aq 'local[.]js\\|millrace[.]js' /proc/$1/cmdline; }`

const connects = (address: string): string =>
  `node -e "require('net').connect(${address.replace('\\0', '\\\\0')}).on('connect', () => process.exit(0)).on('error', () => process.exit(1))"`

export const rows = Object.keys(probes)

/** The script of a job that tries every row. It prints a line for each. */
export function probeScript(has: Surroundings): string {
  const lines = Object.values(probes).map(
    (probe, index) =>
      `if (${probe(has)}) >/dev/null 2>&1; then echo "row ${index}: yes"; else echo "row ${index}: no"; fi`,
  )
  return `${isOfMillrace}\n${lines.join('\n')}\n`
}

export function readProbes(log: string): Record<string, string> {
  const found = [...log.matchAll(/^row (\d+): (yes|no)$/gm)]
  return Object.fromEntries(found.map(([, index, answer = '']) => [rows[Number(index)] ?? '', answer]))
}

/** The table of the page: for each column, what each row says. */
export function readTable(): Record<Column, Record<string, string>> {
  const lines = page.split('\n').filter((line) => line.startsWith('| '))
  const from = lines.findIndex((line) => line.startsWith('| A job reaches |'))
  const cells = (line = '') =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim())
  const titles = cells(lines[from]).slice(1)
  if (titles.join() !== columns.join()) throw new Error(`The columns of the table are ${titles.join(', ')}.`)
  const table = lines.slice(from + 1).map(cells)
  const end = table.findIndex((row) => row.length !== titles.length + 1)
  const body = end < 0 ? table : table.slice(0, end)
  return Object.fromEntries(
    columns.map((column, index) => [
      column,
      Object.fromEntries(body.map(([row = '', ...values]) => [row, values[index] ?? ''])),
    ]),
  ) as Record<Column, Record<string, string>>
}

// The sizes of machines that hosted queues have. vCPUs and gigabytes of memory are in the name.

/** `LINUX_AMD64_2X4`: "2 CPUs, 4 GB, Linux amd64". */
export function describeMachine(name: string): string {
  const [, system = '', architecture = '', cpus, gigabytes] =
    /^([A-Z]+)_([A-Z0-9]+)_.*?(\d+)X(\d+)$/.exec(name) ?? []
  return cpus === undefined
    ? name
    : `${cpus} CPUs, ${gigabytes} GB, ${system === 'LINUX' ? 'Linux' : 'macOS'} ${architecture.toLowerCase()}`
}

/** A queue keeps its system and architecture. */
export const isSameKind = (a: string, b: string): boolean => kindOf(a) === kindOf(b)

const kindOf = (name: string) => name.split('_', 2).join('_')

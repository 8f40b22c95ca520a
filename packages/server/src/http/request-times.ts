// How long requests took, as Prometheus reads it. Counted by hand, since every request passes here: the library puts the
// labels of an observation together anew each time, which takes longer than finding the route did.
const name = 'millrace_http_request_seconds'
const help = 'Time from the request line to the end of the answer.'
const bounds = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

interface Times {
  /** How many took at most the bound of the same place, and longer than the one before; the last took longer than all. */
  counts: number[]
  seconds: number
}

type ByStatus = Map<number, Times>

export class RequestTimes {
  private readonly byRoute = new Map<string, Map<string, ByStatus>>()

  add(method: string, route: string, status: number, seconds: number): void {
    const times = this.timesOf(method, route, status)
    let place = 0
    while (place < bounds.length && seconds > (bounds[place] ?? 0)) place += 1
    times.counts[place] = (times.counts[place] ?? 0) + 1
    times.seconds += seconds
  }

  toText(): string {
    const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`]
    for (const [route, byMethod] of this.byRoute)
      for (const [method, byStatus] of byMethod)
        for (const [status, times] of byStatus)
          lines.push(
            ...linesOf(`method="${method}",route=${JSON.stringify(route)},status="${status}"`, times),
          )
    return `${lines.join('\n')}\n`
  }

  private timesOf(method: string, route: string, status: number): Times {
    let byMethod = this.byRoute.get(route)
    if (byMethod === undefined) this.byRoute.set(route, (byMethod = new Map()))
    let byStatus = byMethod.get(method)
    if (byStatus === undefined) byMethod.set(method, (byStatus = new Map()))
    let times = byStatus.get(status)
    if (times === undefined)
      byStatus.set(
        status,
        (times = { counts: Array.from({ length: bounds.length + 1 }, () => 0), seconds: 0 }),
      )
    return times
  }
}

function linesOf(labels: string, { counts, seconds }: Times): string[] {
  let upTo = 0
  const buckets = counts.map((count, place) => {
    upTo += count
    return `${name}_bucket{le="${bounds[place] ?? '+Inf'}",${labels}} ${upTo}`
  })
  return [...buckets, `${name}_sum{${labels}} ${seconds}`, `${name}_count{${labels}} ${upTo}`]
}

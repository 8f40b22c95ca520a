// A proxy in front of PostgreSQL that can go silent.
import { onTestFinished } from 'vitest'
import { startTcpProxy, type TcpProxy } from '../testbed/src/tcp-proxy.ts'

interface FaultProxy extends TcpProxy {
  /** The database through the proxy. */
  url: string
}

/** The host in `databaseUrl` is a directory of sockets. */
export async function startFaultProxy(databaseUrl: string): Promise<FaultProxy> {
  const target = new URL(databaseUrl.replace(/^postgresql:\/\/\//, 'postgresql://localhost/'))
  const { searchParams } = target
  const path = `${searchParams.get('host')}/.s.PGSQL.${searchParams.get('port')}`
  const proxy = await startTcpProxy(() => path)
  onTestFinished(() => proxy.close())
  searchParams.delete('host')
  searchParams.delete('port')
  target.hostname = '127.0.0.1'
  target.port = String(proxy.port)
  return { ...proxy, url: target.href }
}

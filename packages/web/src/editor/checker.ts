// Checks texts in a worker, so that typing never waits. Only the newest text counts.
import { startWorker } from '../parts/trusted-types.ts'
import workerUrl from './check-worker.ts?worker&url'
import type { Checked } from './check.ts'

interface Checker {
  check(text: string): Promise<Checked>
  stop(): void
}

export function startChecker(): Checker {
  const worker = startWorker(workerUrl)
  const waiting = new Map<number, (checked: Checked) => void>()
  let last = 0
  worker.addEventListener('message', ({ data }: MessageEvent<{ id: number; checked: Checked }>) => {
    waiting.get(data.id)?.(data.checked)
    waiting.delete(data.id)
  })
  return {
    check(text) {
      const id = ++last
      return new Promise((resolve) => {
        waiting.set(id, resolve)
        worker.postMessage({ id, text })
      })
    },
    stop: () => worker.terminate(),
  }
}

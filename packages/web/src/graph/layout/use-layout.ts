import { useEffect, useMemo, useState } from 'react'
import { startWorker } from '../../parts/trusted-types.ts'
import workerUrl from './layout-worker.ts?worker&url'
import { layOut, type Layout, type LayoutInput } from './layout.ts'

/** Above this a layout could cost a frame, so a worker makes it. */
const mostInPage = 500

/** null until the first layout of a large graph is there. The layout before stays until the next one is there. */
export function useLayout(input: LayoutInput): Layout | null {
  const isLarge = input.steps.length > mostInPage
  const inPage = useMemo(() => (isLarge ? null : layOut(input)), [input, isLarge])
  const [fromWorker, setFromWorker] = useState<Layout | null>(null)

  useEffect(() => {
    if (!isLarge) return
    const worker = startWorker(workerUrl)
    worker.addEventListener('message', ({ data }: MessageEvent<Layout>) => setFromWorker(data), {
      once: true,
    })
    worker.postMessage(input)
    return () => worker.terminate()
  }, [input, isLarge])

  return inPage ?? fromWorker
}

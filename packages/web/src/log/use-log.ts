import { useEffect, useState } from 'react'
import type { JobAddress } from '../api/addresses.ts'
import { Finder } from './search/finder.ts'
import { LogModel } from './model/model.ts'
import { Viewport } from './viewport/viewport.ts'

export interface OpenLog {
  model: LogModel
  viewport: Viewport
  finder: Finder
}

/** Opens the log of a job, and closes it when another is shown. */
export function useLog({ org, pipeline, build, job }: JobAddress, isRunning: boolean): OpenLog | null {
  const [log, setLog] = useState<OpenLog | null>(null)
  useEffect(() => {
    const model = new LogModel({ org, pipeline, build, job })
    const viewport = new Viewport(model)
    const finder = new Finder(
      model,
      () => viewport.read().topRow,
      (row) => viewport.show(row),
    )
    setLog({ model, viewport, finder })
    void model.load(isRunning)
    return () => {
      finder.close()
      model.close()
    }
    // A job that ends tells so in its stream. The log is not opened anew.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [org, pipeline, build, job])
  return log
}

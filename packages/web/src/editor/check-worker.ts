import { checkConfiguration } from './check.ts'

addEventListener('message', ({ data }: MessageEvent<{ id: number; text: string }>) => {
  postMessage({ id: data.id, checked: checkConfiguration(data.text) })
})

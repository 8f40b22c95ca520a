// Lays out a large graph beside the page's thread.
import { layOut, type LayoutInput } from './layout.ts'

self.addEventListener('message', ({ data }: MessageEvent<LayoutInput>) => self.postMessage(layOut(data)))

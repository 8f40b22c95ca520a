/** A body that cannot be rendered, as it was written. */
export const showSource = (body: string): string =>
  `<pre>${body.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')}</pre>`

// The text of selected rows: no numbers, no times, one line for each row.

export function selectedText(range: Range, scroller: Element): string | null {
  const texts = [...scroller.querySelectorAll('[data-text]')].filter((element) =>
    range.intersectsNode(element),
  )
  if (texts.length === 0) return null
  return texts.map((element) => partOf(range, element)).join('\n')
}

function partOf(range: Range, element: Element): string {
  const part = document.createRange()
  part.selectNodeContents(element)
  if (element.contains(range.startContainer)) part.setStart(range.startContainer, range.startOffset)
  if (element.contains(range.endContainer)) part.setEnd(range.endContainer, range.endOffset)
  return part.toString()
}

// A worker that is started from its text, and so needs no address.

/**
 * The worker, or null where the browser forbids it; `heard` gets what it says. `failed(begun)`
 * hears that it can't be started, or that it broke off after it had begun to speak.
 * @param {string} code
 * @param {(message: any) => void} heard
 * @param {(begun: boolean) => void} failed
 */
export function startWorker(code, heard, failed) {
  let begun = false;
  try {
    const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
    const worker = new Worker(url);
    worker.onmessage = ({ data }) => {
      begun = true;
      heard(data);
    };
    worker.onerror = () => failed(begun);
    return worker;
  } catch {
    failed(false);
    return null;
  }
}

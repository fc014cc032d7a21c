"use strict";

// Shows what the chosen quantity costs together, while the visitor types.
function showTogether(form) {
  const quantity = form.elements.quantity;
  const together = form.querySelector("output");
  const price = Number(form.dataset.price);
  const show = () => {
    const count = Number(quantity.value);
    together.value = Number.isInteger(count) && count > 0 ? (count * price / 100).toFixed(2) : "";
  };
  quantity.addEventListener("input", show);
  show();
}

// Enter on a check box sends its form, as it does in a text field.
function sendOnEnter(box) {
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      box.form.requestSubmit();
    }
  });
}

document.querySelectorAll("form[data-price]").forEach(showTogether);
document.querySelectorAll("input[type=checkbox]").forEach(sendOnEnter);
